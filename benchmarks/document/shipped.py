"""What has to be said wherever the codebook that ships with the model is measured."""

SEEN = (
    "The codebook that ships was trained on chunks of these same sets, and its margins on their "
    "questions; where a set was held out ([decision "
    "8](decisions/0008-codebooks-ship-with-the-model.md)) it needed up to twice the chunks."
)
