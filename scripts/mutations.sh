# npm run mutations: breaks the code on purpose, one place after the other, and looks whether a test fails.
exec node --disable-warning=ExperimentalWarning --import tsx test/mutations/mutations.ts "$@"
