import eslint from '@eslint/js';
import sortImports from 'eslint-plugin-simple-import-sort';
import tseslint from 'typescript-eslint';

/** One way to count: `+= 1` as a statement and in loops; `n++` where its value is used, as in `out[n++]`. */
const INCREMENTS = {
  selector: 'ExpressionStatement > UpdateExpression, ForStatement > UpdateExpression.update',
  message: 'Write += 1 or -= 1.',
};

/** One way to name errors: as a field, so that no constructor is needed for it. */
const ERROR_NAMES = {
  selector: "AssignmentExpression[left.object.type='ThisExpression'][left.property.name='name'][right.type='Literal']",
  message: "Write override readonly name = '...Error' in the class.",
};

/** One way to name what a class is made of: other objects are its ...Parts, values its ...Options. */
const CONSTRUCTED_FROM = ['parts:Parts', 'options:Options'].map((pair) => {
  const [name, ending] = pair.split(':');
  return {
    selector: `MethodDefinition[kind='constructor'] Identifier[name='${name}'] > TSTypeAnnotation > TSTypeReference > Identifier[name!=/(${ending}|^Pick|^Omit|^Partial)$/]`,
    message: `What a constructor takes as '${name}' has a type named ...${ending}.`,
  };
});

/** Types of the test runner are there for all, since all files are one program for the compiler; the product has no use for them. */
const OF_TESTS = ['describe', 'it', 'before', 'after', 'beforeEach', 'afterEach', 'context', 'specify', 'Mocha'];

/** Rules that need types are in .oxlintrc.json: a native checker judges them in a tenth of the time. */
export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.home/', 'etc/', '.cache/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    plugins: { 'simple-import-sort': sortImports },
    extends: [...tseslint.configs.strict, ...tseslint.configs.stylistic],
    rules: {
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      'simple-import-sort/imports': ['error', { groups: [['^node:', '^@?\\w', '^\\.']] }],
      'no-duplicate-imports': 'error',
      'no-restricted-syntax': ['error', INCREMENTS, ERROR_NAMES, ...CONSTRUCTED_FROM],
      'prefer-template': 'error',
      'no-useless-concat': 'error',
      'no-useless-return': 'error',
      'no-else-return': 'error',
      'arrow-body-style': 'error',
      'object-shorthand': 'error',
      curly: ['error', 'multi-line', 'consistent'],
      'no-control-regex': 'off',
      eqeqeq: 'error',
    },
  },
  {
    files: ['lib/**/*.ts', 'daemons/**/*.ts', 'api/**/*.ts', 'bin/**/*.ts'],
    rules: {
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-restricted-globals': ['error', ...OF_TESTS],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs', '*.js', 'bin/*'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        module: 'writable',
        require: 'readonly',
        __dirname: 'readonly',
      },
    },
  },
);
