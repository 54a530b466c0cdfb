"""What belongs to one visitor: the pose, settings, links and uploads."""
