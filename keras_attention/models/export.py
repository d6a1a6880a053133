"""A translator as a SavedModel: strings in, strings out, for any program that has TensorFlow."""

import tensorflow as tf

from keras_attention.data.vocabulary import Vocabulary
from keras_attention.models.graph_text import text_in_graph
from keras_attention.models.search import Found


def export_translator(translator, path, beam_width=5, length_penalty=1.0):
    """Write a folder that `tf.saved_model.load` reads without this package; see `Translator.export`."""
    inference_alone = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    exported = Exported(translator, beam_width, length_penalty)
    tf.saved_model.save(exported, str(path), options=inference_alone)


class Exported(tf.Module):
    """The graph from texts to texts, with its weights and vocabularies."""

    def __init__(self, translator, beam_width, length_penalty):
        super().__init__()
        self.weights = [variable.value for variable in translator.variables]
        self.source = text_in_graph(translator.source_vocabulary)
        self.target = text_in_graph(translator.target_vocabulary)

        @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="sentences")])
        def serve(sentences):
            source = self.source.split(sentences)  # (B, n), "" behind the end
            count = tf.size(sentences)
            more = tf.cast(count == 0, tf.int32)  # an empty sentence where there is none
            ids = tf.pad(self.source.ids(source), [[0, more], [0, 1]])  # one PAD at least, if all are empty
            found = translator._search(ids, beam_width, length_penalty)
            found = Found(*(part[:count] for part in found))
            tokens = tf.where(found.tokens == Vocabulary.END, Vocabulary.PAD, found.tokens)[:, :-1]  # (B, T)
            real = (tokens != Vocabulary.PAD)[:, :, None] & (source != "")[:, None]  # (B, T, n)
            return {
                "translations": self.target.join(tokens),
                "tokens": self.target.tokens(tokens),
                "source_tokens": source,
                "attention": tf.where(real, found.attention[:, :-1, :-1], 0),
                "scores": found.score,
            }

        self.serve = serve
