"""Results as pictures (matplotlib, imported when something is drawn)."""

from blankets.plots._adjustment import plot_adjustment
from blankets.plots._blanket import plot_blanket, plot_latent_blanket
from blankets.plots._effects import plot_effects, plot_stability
from blankets.plots._planning import plot_planning, plot_power
from blankets.plots._studies import plot_latent_posterior, plot_prior_sensitivity, plot_roc

__all__ = [
    "plot_adjustment",
    "plot_blanket",
    "plot_effects",
    "plot_latent_blanket",
    "plot_latent_posterior",
    "plot_planning",
    "plot_power",
    "plot_prior_sensitivity",
    "plot_roc",
    "plot_stability",
]
