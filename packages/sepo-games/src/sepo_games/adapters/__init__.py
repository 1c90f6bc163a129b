"""Games and opponents of other libraries; each module needs the extra of its name."""
