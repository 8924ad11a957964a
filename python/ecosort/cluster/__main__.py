"""`python -m ecosort.cluster`, as `ecosort cluster`."""

import sys

from ecosort.cluster.cli import main

sys.exit(main())
