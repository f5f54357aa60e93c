"""Does discriminative power's ranking of measures depend on the significance test?"""
