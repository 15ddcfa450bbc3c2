import type { Session } from './login.js';
import { curlCommand, readableAnswer, type TryOperation, tryRequest } from './try-request.js';

/** Characters of an answer that are shown: a longer one would hold the page. */
const MAX_SHOWN = 200_000;

/** Adds the form to try an operation to its element, when it is opened for the first time. */
export function addTryForm(element: HTMLDetailsElement, session: Session): void {
  const { dataset } = element;
  if (dataset['try'] === undefined || element.querySelector('form.try') !== null) return;
  const operation = JSON.parse(dataset['try']) as TryOperation;
  const form = document.createElement('form');
  form.className = 'try';
  form.append(textElement('h3', 'Try it'));
  for (const parameter of operation.parameters) form.append(parameterField(parameter));
  const body = operation.types.length === 0 ? undefined : bodyField(element, operation);
  if (body !== undefined) form.append(...body.elements);
  const send = textElement('button', `Send ${operation.method}`);
  const status = textElement('p', '');
  status.setAttribute('role', 'status');
  const command = textElement('pre', '');
  const answer = textElement('pre', '');
  command.hidden = true;
  answer.hidden = true;
  form.append(send, status, command, answer);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const say = (text: string, failed: boolean) => {
      status.textContent = text;
      status.className = failed ? 'failed' : '';
    };
    const work = async () => {
      const data = new FormData(form);
      const parameters = new Map(operation.parameters.map(({ name }) => [name, String(data.get(`p:${name}`) ?? '')]));
      const authorization = session.authorization(operation.basic);
      const request = tryRequest(operation, { parameters, authorization, ...body?.value() });
      command.textContent = curlCommand(request, location.origin);
      command.hidden = false;
      if (authorization === undefined) throw new Error('Log in first, at the top of the page.');
      const question = `${request.method} ${request.target}\n\nThis changes something. Send it?`;
      if (request.method !== 'GET' && !operation.basic && !confirm(question)) return;
      say('…', false);
      const started = performance.now();
      const response = await fetch(request.target, request);
      const text = await response.text();
      const took = Math.round(performance.now() - started);
      say(`${response.status} in ${took} ms, ${text.length} characters`, !response.ok);
      answer.textContent = readableAnswer(text).slice(0, MAX_SHOWN);
      answer.hidden = false;
    };
    work().catch((error: unknown) => say(error instanceof Error ? error.message : String(error), true));
  });
  element.append(form);
}

function parameterField({
  name,
  in: where,
  required = false,
  values,
}: TryOperation['parameters'][number]): HTMLElement {
  const label = textElement('label', `${name}${required || where === 'path' ? ' *' : ''} `);
  const field = document.createElement(values === undefined ? 'input' : 'select');
  field.name = `p:${name}`;
  if (field instanceof HTMLSelectElement) {
    for (const value of ['', ...(values ?? [])]) field.append(new Option(String(value)));
  }
  label.append(field);
  return label;
}

function bodyField(element: HTMLElement, operation: TryOperation) {
  const area = document.createElement('textarea');
  area.value = element.querySelector('pre.body')?.textContent ?? '';
  area.setAttribute('aria-label', 'Body');
  const type = document.createElement('select');
  type.setAttribute('aria-label', 'Type of the body');
  for (const each of operation.types) type.append(new Option(each));
  return { elements: [type, area], value: () => ({ type: type.value, body: area.value }) };
}

function textElement(name: string, text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
