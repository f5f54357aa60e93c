"""Does weighted κ cover more than CEM^ORD whatever the reference measures are?"""
