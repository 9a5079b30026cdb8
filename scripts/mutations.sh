# npm run mutations: breaks the code in one place after the other, and checks that a test fails each time.
exec node --disable-warning=ExperimentalWarning --import tsx test/mutations/mutations.ts "$@"
