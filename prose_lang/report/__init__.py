"""Reports: how programs that are not run flow (`graph`), and how many calls they can make (`show --calls`); and which
way recorded runs took, as trees and pages (`trace`)."""
