"""The lab: filesystems, hosts and conditions that leadline makes on this machine and takes away again without a trace."""
