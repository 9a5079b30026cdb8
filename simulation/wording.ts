// Sentences as facts: a form, and its values. Each language has a record that turns every form into text.

/** How each form reads in one language. */
export type Wording<Forms> = { [Form in keyof Forms]: (values: Forms[Form]) => string };

/** The forms that a wording has, each with its values: the English one says which there are, and any other must have them all. */
export type FormsOf<Words> = {
  [Form in keyof Words]: Words[Form] extends () => string
    ? Record<string, never>
    : Words[Form] extends (values: infer Values) => string
      ? Values
      : never;
};

/** One of the forms, with its values. They are plain: a sentence travels between processes as it is. */
export type Sentence<Forms> = { [Form in keyof Forms]: { form: Form; values: Forms[Form] } }[keyof Forms];

/** The text of the sentence in that language. */
export const worded = <Forms>(wording: Wording<Forms>, { form, values }: Sentence<Forms>): string =>
  wording[form](values);

/** What a sentence of a form is made with: nothing, where the form has no values. */
export type Given<Values> = Values extends Record<string, never> ? [] | [Values] : [Values];
