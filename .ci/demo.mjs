// `npm run demo [-- cluster [OPTIONS]]`: a manager of its own that shows what the product does, or three that are one.
const [what, ...rest] = process.argv.slice(2);
if (what === undefined) {
  await import('./demo-alone.mjs');
} else if (what === 'cluster') {
  process.argv.splice(2, Infinity, ...rest);
  await import('../dist/test/cluster-story/main.js');
} else {
  console.error(
    `demo: there is no demonstration '${what}'\nusage: npm run demo [-- cluster [--faults N] [--seed S] [--hosts]]`,
  );
  process.exitCode = 2;
}
