"""What is known of pjdfstest beforehand: its cases, what a failure means for an application, and who fails what by design."""
