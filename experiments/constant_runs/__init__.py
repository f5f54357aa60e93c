"""Do runs that always answer one class explain κ's poor system ranking consistency?"""
