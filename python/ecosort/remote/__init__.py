"""Inputs and outputs behind http(s):// and s3://, for a sort on one machine and for those of a cluster."""
