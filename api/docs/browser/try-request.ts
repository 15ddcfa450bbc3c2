/** What the page knows of an operation, in `data-try` of its element. */
export type TryOperation = {
  readonly method: string;
  readonly path: string;
  /** Takes name and password, not a token. */
  readonly basic: boolean;
  /** Media types of the body; none without one. */
  readonly types: readonly string[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: 'query' | 'path';
    readonly required?: boolean;
    readonly values?: readonly unknown[];
  }[];
};

/** What somebody filled in: values by parameter, and the body. */
export type TryValues = {
  readonly parameters: ReadonlyMap<string, string>;
  readonly type?: string;
  readonly body?: string;
  /** `Authorization` of the request; absent when nobody is logged in. */
  readonly authorization?: string | undefined;
};

export type TryRequest = {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The request of a form; what was left empty is not sent. @throws Error that names a required value which is missing */
export function tryRequest(operation: TryOperation, values: TryValues): TryRequest {
  let path = operation.path;
  const query: string[] = [];
  for (const { name, in: where, required = false } of operation.parameters) {
    const value = values.parameters.get(name) ?? '';
    if (value === '' && (required || where === 'path')) throw new Error(`${name} is required`);
    if (value === '') continue;
    if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else query.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  }
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  const { authorization, type, body } = values;
  const headers = {
    ...(authorization === undefined ? {} : { Authorization: authorization }),
    ...(body === undefined || type === undefined ? {} : { 'Content-Type': type }),
  };
  return { method: operation.method, target, headers, ...(body === undefined ? {} : { body }) };
}

/** The same request for a shell, with `$TOKEN` or a user name in the place of what is secret. */
export function curlCommand(request: TryRequest, origin: string): string {
  const words = ['curl', '-s'];
  if (request.method !== 'GET') words.push('-X', request.method);
  for (const [name, value] of Object.entries(request.headers)) {
    if (name !== 'Authorization') words.push('-H', quote(`${name}: ${value}`));
    else if (value.startsWith('Basic ')) words.push('-u', '"$USER"');
    else words.push('-H', '"Authorization: Bearer $TOKEN"');
  }
  if (request.body !== undefined) words.push('--data-binary', quote(request.body));
  return [...words, quote(origin + request.target)].join(' ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** `Authorization` of a name and password, whatever letters they have. */
export function basicAuthorization(name: string, password: string): string {
  const bytes = new TextEncoder().encode(`${name}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** An answer for reading: JSON indented, everything else as it is. */
export function readableAnswer(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
