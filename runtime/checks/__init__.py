"""What works on this machine and how to mend what does not, one small check after the other."""
