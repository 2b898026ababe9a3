"""`python -m prose_lang` is `prose`."""

from prose_lang.cli.main import main

if __name__ == "__main__":
    main()
