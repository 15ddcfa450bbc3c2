/**
 * Rooms of lib, the lowest floor first: a room imports from floors below its own, never from its own or one above. A new room goes
 * on the lowest floor that its imports allow.
 */
const FLOORS_OF_LIB = [
  ['async', 'files', 'json', 'network', 'patterns', 'product', 'thread', 'time', 'xml'],
  ['contract', 'events', 'log', 'output', 'query', 'security'],
  ['agentlink', 'engine', 'home', 'report', 'tls'],
  ['config', 'indexer', 'logtest', 'manager', 'process'],
  ['agents', 'bus', 'fim', 'rotation', 'ruleset', 'store'],
  ['cluster', 'daemon', 'groups', 'journal', 'sync'],
  ['rootcheck', 'validation'],
  ['control', 'sca'],
];

const orderOfLib = FLOORS_OF_LIB.map((rooms, floor) => ({
  name: `lib-floor-${floor}`,
  severity: 'error',
  comment: 'A room of lib imports from floors below its own: see FLOORS_OF_LIB.',
  from: { path: `^lib/(${rooms.join('|')})/` },
  to: { path: `^lib/(?!(${FLOORS_OF_LIB.slice(0, floor).flat().join('|')})/)`, pathNot: '^lib/$1/' },
}));

/** Layer rules: bin, api and daemons build on lib; lib knows none of them; engine is pure. */
module.exports = {
  forbidden: [
    {
      name: 'lib-knows-no-daemon',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^(bin|api|daemons|test)/' },
    },
    {
      name: 'daemons-stand-alone',
      severity: 'error',
      comment: 'Two daemons that need the same thing put it in lib or ask each other over the bus.',
      from: { path: '^daemons/([^/]+)/' },
      to: { path: '^(bin|api|test|daemons/(?!$1/))' },
    },
    {
      name: 'api-uses-lib-only',
      severity: 'error',
      from: { path: '^api/' },
      to: { path: '^(bin|daemons|test)/' },
    },
    {
      name: 'console-asks-the-api',
      severity: 'error',
      comment: 'What runs in the browser has the API and nothing of the server.',
      from: { path: '^api/console/browser/' },
      to: { path: '^(lib|api/(?!console/browser/))' },
    },
    {
      name: 'server-is-not-the-browser',
      severity: 'error',
      from: { path: '^(api/(?!console/browser/)|bin|daemons|lib)' },
      to: { path: '^api/console/browser/' },
    },
    {
      name: 'bin-uses-lib-only',
      severity: 'error',
      from: { path: '^bin/' },
      to: { path: '^(api|daemons|test)/' },
    },
    {
      name: 'engine-is-pure',
      severity: 'error',
      comment: 'Events in, alerts out: the engine does no transport, storage or logging of its own.',
      from: { path: '^lib/(engine|patterns|xml)/' },
      to: { path: '^lib/(?!engine/|events/|network/|patterns/|time/|xml/)' },
    },
    ...orderOfLib,
    {
      name: 'lib-room-has-a-floor',
      severity: 'error',
      from: { path: `^lib/(?!(${FLOORS_OF_LIB.flat().join('|')})/)` },
      to: {},
    },
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Not by types either: what two modules know of each other has a module of its own below both.',
      from: {},
      to: { circular: true },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency-in-product',
      severity: 'error',
      comment: 'The console in the browser is one file when it is built: its packages are in it.',
      from: { path: '^(bin|api|daemons|lib)/', pathNot: '^api/console/browser/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|node_modules)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
