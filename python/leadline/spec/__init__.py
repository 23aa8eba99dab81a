"""What the user asks for: campaigns, units and settings, validated and immutable."""
