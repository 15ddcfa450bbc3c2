// Rules of our own for oxlint (.oxlintrc.json): what several hands would write in different ways. Each is a selector of what is
// not to be written, with what is said of it.

/** One way to count: `+= 1` as a statement and in loops; `n++` where its value is used, as in `out[n++]`. */
const INCREMENTS = {
  'ExpressionStatement > UpdateExpression, ForStatement > UpdateExpression.update': 'Write += 1 or -= 1.',
};

/** One way to name errors: as a field, so that no constructor is needed for it. */
const ERROR_NAMES = {
  "AssignmentExpression[left.object.type='ThisExpression'][left.property.name='name'][right.type='Literal']":
    "Write override readonly name = '...Error' in the class.",
};

const named = (name, ending) =>
  `MethodDefinition[kind='constructor'] Identifier[name='${name}'] > TSTypeAnnotation > TSTypeReference > Identifier[name!=/(${ending}|^Pick|^Omit|^Partial)$/]`;

/** One way to name what a class is made of: other objects are its ...Parts, values its ...Options. */
const CONSTRUCTED_FROM = {
  [named('parts', 'Parts')]: "What a constructor takes as 'parts' has a type named ...Parts.",
  [named('options', 'Options')]: "What a constructor takes as 'options' has a type named ...Options.",
};

const rule = (selectors) => ({
  create: (context) =>
    Object.fromEntries(
      Object.entries(selectors).map(([selector, message]) => [selector, (node) => context.report({ node, message })]),
    ),
});

export default {
  meta: { name: 'house' },
  rules: {
    increments: rule(INCREMENTS),
    'error-names': rule(ERROR_NAMES),
    'constructed-from': rule(CONSTRUCTED_FROM),
  },
};
