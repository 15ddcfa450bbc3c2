/** What a unit file of systemd says, as far as the inventory tells it. */
export type UnitFile = {
  readonly description: string;
  readonly type: string;
  readonly restart: string;
  /** First program that it starts, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  readonly user: string;
  readonly group: string;
  readonly workingDirectory: string;
  readonly rootDirectory: string;
  readonly standardOutput: string;
  readonly standardError: string;
  /** Whether it can be enabled: it has a section `[Install]` that says for what. */
  readonly installable: boolean;
};

const INSTALL_KEYS = ['WantedBy', 'RequiredBy', 'UpheldBy', 'Also', 'Alias', 'DefaultInstance'];

/** Reads systemd.syntax(7): the last value of a name counts, an empty one takes back what was said before. */
export function parseUnitFile(text: string): UnitFile {
  const values = new Map<string, string>();
  let section = '';
  for (const line of logicalLines(text)) {
    const [, name] = /^\[([^\]]+)\]$/.exec(line) ?? [];
    if (name !== undefined) {
      section = name;
      continue;
    }
    const equals = line.indexOf('=');
    if (equals <= 0) continue;
    const key = `${section}/${line.slice(0, equals).trim()}`;
    const value = line.slice(equals + 1).trim();
    // Of several commands the first is the program; everything else is overridden.
    if (key !== 'Service/ExecStart' || value === '' || !values.get(key)) values.set(key, value);
  }
  const value = (key: string): string => values.get(key) ?? '';
  const [program = '', ...args] = value('Service/ExecStart').split(/\s+/);
  return {
    description: value('Unit/Description'),
    type: value('Service/Type'),
    restart: value('Service/Restart'),
    // Marks in front say how it is started.
    program: program.replace(/^[-@:+!|]+/, ''),
    args,
    user: value('Service/User'),
    group: value('Service/Group'),
    workingDirectory: value('Service/WorkingDirectory').replace(/^-/, ''),
    rootDirectory: value('Service/RootDirectory'),
    standardOutput: fileOf(value('Service/StandardOutput')),
    standardError: fileOf(value('Service/StandardError')),
    installable: INSTALL_KEYS.some((key) => value(`Install/${key}`) !== ''),
  };
}

/** Lines without comments; one that ends with a backslash goes on in the next. */
function* logicalLines(text: string): Generator<string, void, undefined> {
  let held = '';
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line.startsWith('#') || line.startsWith(';')) continue;
    if (line.endsWith('\\')) {
      held += `${line.slice(0, -1)} `;
      continue;
    }
    const whole = held + line;
    held = '';
    if (whole !== '') yield whole;
  }
  if (held !== '') yield held;
}

/** The file of `file:`, `append:` or `truncate:`. */
function fileOf(output: string): string {
  return /^(?:file|append|truncate):(.+)$/.exec(output)?.[1] ?? '';
}
