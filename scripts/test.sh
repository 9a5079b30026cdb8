# npm test: the tests of everything that a change can break, on real servers and in simulated time.
exec vitest run --project quick --project real --project peers "$@"
