import { resolve } from 'node:path';
import type { ManagerConfig } from '../../../../lib/config/manager-config.js';
import type { GlobalConfig } from '../../../../lib/config/sections/global.js';
import type { Home } from '../../../../lib/home/home.js';
import type { Logger } from '../../../../lib/log/logger.js';
import { AlertFilter, type AlertFilterSettings } from '../alert-filter.js';
import { MAIL_KEY, type OutputDefinition } from '../alert-outputs.js';
import { MailQueue, type MailRoute } from './mail-queue.js';
import { MailReceiver } from './mail-receiver.js';
import { type MailServer, MailTransport } from './mail-transport.js';

/** What mail needs of the internal options. */
export type MailOptions = {
  /** `maild.grouping` */
  readonly grouping: boolean;
  /** `maild.full_subject` */
  readonly fullSubject: boolean;
};

type MailSections = ManagerConfig<'global' | 'email_alerts'>;

/** Name that mails come from. */
const FROM_NAME = 'Wazuh';
const EVERYTHING: AlertFilterSettings = { level: 0, ruleIds: [] };

/** What `<global>` lacks to send mail, a sentence; undefined when it lacks nothing. @param needed what must not be empty */
export function serverProblem(
  global: GlobalConfig,
  needed: readonly ('smtp_server' | 'email_from' | 'email_to')[],
): string | undefined {
  const missing = needed.filter((name) => (global[name] ?? []).length === 0);
  if (missing.length > 0) return `<global> has no ${missing.map((name) => `<${name}>`).join(', ')}.`;
  if (global.smtp_user !== undefined && global.smtp_password_file === undefined) {
    return '<smtp_user> needs <smtp_password_file>.';
  }
  return undefined;
}

/** What `<email_notification>yes` lacks to work; undefined when it is off or lacks nothing. */
export function mailProblem({ global }: Pick<MailSections, 'global'>): string | undefined {
  if (global.email_notification !== true) return undefined;
  const problem = serverProblem(global, ['smtp_server', 'email_from', 'email_to']);
  return problem === undefined ? undefined : `No mail is sent: ${problem}`;
}

/** How mails are sent; undefined when `<global>` does not say it. */
export function mailServer(global: GlobalConfig, home: Home): MailServer | undefined {
  const { smtp_server: server, email_from: from } = global;
  if (serverProblem(global, []) !== undefined || server === undefined || from === undefined) return undefined;
  const path = (file: string | undefined): string | undefined =>
    file === undefined ? undefined : resolve(home.root, file);
  return {
    server: server.trim(),
    port: global.smtp_port,
    secure: global.smtp_secure,
    ca: path(global.smtp_ca),
    user: global.smtp_user,
    passwordFile: path(global.smtp_password_file),
    helo: global.helo_server,
    from,
    fromName: FROM_NAME,
    replyTo: global.email_reply_to,
    idsName: global.email_idsname,
  };
}

/** The output by mail, when there is one. */
export function mailOutput(
  { global, email_alerts }: MailSections,
  options: MailOptions,
  home: Home,
  logger: Logger,
): OutputDefinition[] {
  const isOn = global.email_notification === true && mailProblem({ global }) === undefined;
  const server = isOn ? mailServer(global, home) : undefined;
  if (server === undefined) return [];
  const single = !options.grouping;
  const routes: { route: MailRoute; filter: AlertFilterSettings }[] = [
    { route: { key: '0', to: global.email_to, sms: false, immediate: single, single }, filter: EVERYTHING },
    ...email_alerts.map((block, i) => ({
      route: {
        key: `${String(i + 1)} ${block.email_to.join(',')}`,
        to: block.email_to,
        sms: block.format === 'sms',
        immediate: single || block.do_not_delay,
        single: single || block.do_not_group,
      },
      filter: {
        level: block.level,
        ruleIds: block.rule_id,
        group: block.group,
        location: block.event_location,
        wholeLocation: true,
      },
    })),
  ];
  const settings = { server, routes, mostPerHour: global.email_maxperhour, fullSubject: options.fullSubject };
  return [
    {
      key: MAIL_KEY,
      name: 'mail',
      settings,
      receiver: (store) => {
        const transport = mailTransport(server, logger);
        const queue = new MailQueue({
          store,
          routes: routes.map(({ route }) => route),
          send: (mail, signal) => transport.send(mail, signal),
          logger,
          mostPerHour: settings.mostPerHour,
          fullSubject: settings.fullSubject,
        });
        return new MailReceiver(
          queue,
          routes.map(({ route, filter }) => ({ route, filter: new AlertFilter(filter) })),
        );
      },
    },
  ];
}

/** The way to a mail server; recipients that it alone refuses are logged. */
export function mailTransport(server: MailServer, logger: Logger): MailTransport {
  const refusals = logger.limited();
  return new MailTransport(server, (address, reason) => {
    refusals.warn(`A mail was taken, but not for ${address}: ${reason}`);
  });
}
