"""Settings of a translator that are known to work, by name."""

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    # the embedded corpora: under a minute
    "toy": {
        "vocabulary": {"kind": "word"},
        "model": {"embedding_dim": 64, "units": 64, "dropout": 0.1},
        "training": {"epochs": 10, "batch_size": 50, "learning_rate": 8e-3},
    },
    # tens of thousands of short sentences: twenty minutes on two cores
    "quick": {
        "vocabulary": {"kind": "subword", "size": 4000},
        "model": {
            "embedding_dim": 128,
            "units": 256,
            "attention": "bahdanau-word",
            "dropout": 0.15,
            "label_smoothing": 0.1,
        },
        "training": {"epochs": 12, "minutes": 17, "batch_size": 40, "learning_rate": 2.5e-3},
    },
    # the same, for an hour
    "full": {
        "vocabulary": {"kind": "subword", "size": 4000},
        "model": {
            "embedding_dim": 128,
            "units": 256,
            "attention": "bahdanau-word",
            "dropout": 0.3,
            "label_smoothing": 0.1,
        },
        "training": {"epochs": 30, "minutes": 60, "batch_size": 40, "learning_rate": 2e-3},
    },
}

TRANSFORMER_PRESETS: dict[str, dict[str, Any]] = {
    # the embedded corpora: about a minute
    "toy": {
        "vocabulary": {"kind": "word"},
        "model": {
            "embedding_dim": 64,
            "num_layers": 2,
            "hidden_dim": 128,
            "dropout": 0.1,
            "label_smoothing": 0.0,
        },
        "training": {"epochs": 10, "batch_size": 50, "learning_rate": 4e-3, "warmup": 100},
    },
    # tens of thousands of short sentences: twenty minutes on two cores
    "quick": {
        "vocabulary": {"kind": "subword", "size": 4000},
        "model": {"num_layers": 3, "dropout": 0.1},
        "training": {"epochs": 15, "minutes": 17, "batch_tokens": 1000, "learning_rate": 3e-3, "warmup": 500},
    },
    # the same, for an hour
    "full": {
        "vocabulary": {"kind": "subword", "size": 4000},
        "model": {"num_layers": 3, "dropout": 0.2},
        "training": {
            "epochs": 40,
            "minutes": 60,
            "batch_tokens": 1500,
            "learning_rate": 3e-3,
            "warmup": 500,
        },
    },
}

CLASSIFIER_PRESETS: dict[str, dict[str, Any]] = {
    # the embedded reviews: under a minute
    "toy": {
        "vocabulary": {"kind": "word"},
        "model": {"embedding_dim": 64, "units": 32, "dropout": 0.2, "context_dropout": 0.2},
        "training": {"epochs": 8, "batch_size": 50, "learning_rate": 5e-3},
    },
    # thousands of sentences; a word that occurs once is unknown, so that training meets unknown words
    "sentences": {
        "vocabulary": {"kind": "word", "min_count": 2},
        "model": {"embedding_dim": 128, "units": 64, "dropout": 0.5, "word_dropout": 0.1},
        "training": {"epochs": 6, "batch_size": 50, "learning_rate": 2e-3},
    },
    # reviews of hundreds of words
    "documents": {
        "vocabulary": {"kind": "word", "size": 30000},
        "model": {"embedding_dim": 128, "units": 128, "dropout": 0.5},
        "training": {"epochs": 5, "batch_size": 50, "learning_rate": 2e-3, "max_length": 400},
    },
}
