"""What is known before the data speak: tiers, causes, impossible causes, edges, no selection, no latent causes."""

from lmarvel.knowledge.closure import Known
from lmarvel.knowledge.statements import Knowledge

__all__ = ["Knowledge", "Known"]
