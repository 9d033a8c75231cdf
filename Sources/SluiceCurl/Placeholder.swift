internal import Sluice
