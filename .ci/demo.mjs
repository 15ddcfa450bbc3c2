// `npm run demo [-- WHAT [OPTIONS]]`: a manager of its own that shows what the product does, three that are one, or an attack to
// watch at a manager that runs.
const STORIES = { cluster: '../dist/test/cluster-story/main.js', attack: '../dist/test/attack-story/main.js' };

const [what, ...rest] = process.argv.slice(2);
const story = Object.hasOwn(STORIES, what ?? '') ? STORIES[what] : undefined;
if (what === undefined) {
  await import('./demo-alone.mjs');
} else if (story !== undefined) {
  process.argv.splice(2, Infinity, ...rest);
  await import(story);
} else {
  console.error(
    `demo: there is no demonstration '${what}'\nusage: npm run demo [-- attack [--home HOME] | cluster [--faults N] [--seed S] [--only TEXT] [--hosts]]`,
  );
  process.exitCode = 2;
}
