from keras_attention.cli import main

main()
