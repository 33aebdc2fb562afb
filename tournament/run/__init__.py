"""The tournament runner: schedule, worker pools, retries and scoreboard."""
