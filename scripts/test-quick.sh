# npm run test:quick: the tests that start no server.
exec vitest run --project quick "$@"
