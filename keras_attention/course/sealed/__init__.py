"""What runs on the student's side: it imports nothing of keras_attention, and knows no check.

The zygote and its children import this folder as a package of its own, called `sealed`.
"""
