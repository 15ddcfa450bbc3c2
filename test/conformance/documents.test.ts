import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productRoot } from '../../lib/product/product-root.js';
import { markdownAnchors, markdownCode, markdownHeadings, markdownLinks } from '../support/markdown.js';

const root = fileURLToPath(productRoot());
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesBelow = (directory: string): string[] =>
  readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));

const SPEC = filesBelow('docs/spec');
const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...filesBelow('docs').filter((path) => path.endsWith('.md')),
];

/** The first page is read before anything is decided: it stays short. */
const README_LINES = 250;
/** Beginnings of paths that are meant to be in the repository; a home has directories of the same names. */
const IN_REPOSITORY = /^(bin|api|daemons|lib|test|systemd|docs|\.ci)\/(?!configuration\b)/;
/** `rest-api.md 2.4`; a comment may break the line between the two. */
const CITATION = /\b([a-z-]+\.md)[\s*/]+(\d+(?:\.\d+)*)/g;

describe('documents', () => {
  it('link only to what there is', () => {
    const links = DOCUMENTS.flatMap((path) =>
      markdownLinks(read(path))
        .filter(({ target }) => !/^https?:/.test(target))
        .map((link) => ({ ...link, path })),
    );
    expect(links.length).to.be.greaterThan(100);
    const broken = links.filter(({ path, target }) => {
      const [file = '', anchor] = target.split('#');
      const goal = file === '' ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(root, goal))) return true;
      return anchor !== undefined && !(goal.endsWith('.md') && markdownAnchors(read(goal)).has(anchor));
    });
    expect(broken.map(({ path, line, target }) => `${path}:${String(line)} ${target}`)).to.deep.equal([]);
  });

  it('are all in the lists of docs/README.md and docs/spec/README.md', () => {
    const linked = new Set(
      ['docs/README.md', 'docs/spec/README.md'].flatMap((path) =>
        markdownLinks(read(path)).map(({ target }) => normalize(join(dirname(path), target.split('#')[0] ?? ''))),
      ),
    );
    expect(DOCUMENTS.filter((path) => !linked.has(path))).to.deep.equal(['docs/README.md']);
  });

  it('begin with a README that can be read in one go', () => {
    expect(read('README.md').trimEnd().split('\n').length).to.be.at.most(README_LINES);
  });

  it('name in the architecture only paths that there are', () => {
    const paths = markdownCode(read('docs/architecture.md')).filter(({ text }) => IN_REPOSITORY.test(text));
    expect(paths.length).to.be.greaterThan(100);
    const missing = paths.filter(({ text }) => !existsSync(join(root, text)));
    expect(missing.map(({ text, line }) => `line ${String(line)}: ${text}`)).to.deep.equal([]);
  });

  it('name in the mutation run only sources that there are', () => {
    const named = markdownCode(read('docs/mutation.md')).filter(({ text }) => /^(api|daemons|lib|\.ci)\//.test(text));
    expect(named.length).to.be.greaterThan(30);
    expect(named.filter(({ text }) => !existsSync(join(root, text)))).to.deep.equal([]);
  });

  it('name in the architecture every room of the code', () => {
    const named = new Set(markdownCode(read('docs/architecture.md')).map(({ text }) => text));
    const rooms = ['bin', 'api', 'daemons', 'lib'].flatMap((floor) =>
      readdirSync(join(root, floor), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${floor}/${name}/`),
    );
    expect(rooms.filter((room) => !named.has(room))).to.deep.equal([]);
  });

  it('speak in the specification of nothing outside of the repository', () => {
    const outside = SPEC.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => (/\.\.\/shared|shared\/data/.test(line) ? [`${path}:${String(index + 1)}`] : [])),
    );
    expect(outside).to.deep.equal([]);
  });

  it('have the sections that the code cites', () => {
    const sections = new Map(
      [...SPEC, 'docs/architecture.md'].map((path) => [
        basename(path),
        new Set(markdownHeadings(read(path)).map((heading) => /^\d+(\.\d+)*/.exec(heading)?.[0])),
      ]),
    );
    const cited = ['lib', 'api', 'daemons', 'bin', 'test', '.ci', 'etc']
      .flatMap(filesBelow)
      .filter((path) => /\.(ts|mjs|cjs|yaml|yml|conf)$/.test(path))
      .flatMap((path) =>
        [...read(path).matchAll(CITATION)].map(([, document = '', section = '']) => ({ path, document, section })),
      );
    expect(cited.length).to.be.greaterThan(800);
    const dangling = cited.filter(({ document, section }) => sections.get(document)?.has(section) !== true);
    expect(dangling.map(({ path, document, section }) => `${path}: ${document} ${section}`)).to.deep.equal([]);
  });
});
