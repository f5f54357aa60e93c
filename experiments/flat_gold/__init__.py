"""Does the flatness of the gold explain that NMD prefers Popularity to Uniform more often than other measures do?"""
