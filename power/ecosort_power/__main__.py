from ecosort_power.cli import main

if __name__ == "__main__":
    main()
