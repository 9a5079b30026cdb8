# npm run soak: what needs real time, or much of it.
exec vitest run --project soak "$@"
