# npm run soak: the tests that need real time, or a lot of it.
exec vitest run --project soak "$@"
