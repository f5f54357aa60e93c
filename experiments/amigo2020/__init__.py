"""Amigó, Gonzalo, Mizzaro, Carrillo-de-Albornoz, ACL 2020: UIR, coverage, the synthetic study, the properties."""
