import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Home } from '../../lib/home/home.js';

/** Checks for rootkits that go over all processes, ports, programs and file systems of the host. */
const CHECKS_OF_HOST = ['check_dev', 'check_if', 'check_pids', 'check_ports', 'check_sys', 'check_trojans'];

/**
 * Has svc-syscheckd look at the configuration of a new home alone, and svc-modulesd at nothing: what the host has takes them ten
 * seconds of CPU and more, and more still where temporary directories are large.
 */
export function watchLittle(home: Home): void {
  const configuration = home.path('etc', 'manager.conf');
  const text = readFileSync(configuration, 'utf8');
  const checks = new RegExp(` *<(${CHECKS_OF_HOST.join('|')})>.*\n`, 'g');
  const little = text
    .replaceAll(/<directories>[^<]*<\/directories>/g, `<directories>${home.path('etc')}</directories>`)
    .replaceAll(checks, '')
    .replace(/ *<sca>[^]*?<\/sca>\n/, '')
    .replace(/ *<wodle name="syscollector">[^]*?<\/wodle>\n/, '')
    .replace('</rootcheck>', `${CHECKS_OF_HOST.map((name) => `<${name}>no</${name}>`).join('')}</rootcheck>`);
  if (!little.includes(`>${home.path('etc')}<`) || !little.includes('<check_ports>no')) {
    throw new Error(`${configuration} has no directories or checks to watch less of`);
  }
  writeFileSync(configuration, little);
}

/** Files of the ruleset that refer to each other alone. */
const FEW = { rules: /^00(10|15|16)-/, decoders: /^0(005|006|010|200)-/ };

/**
 * Leaves few rules and decoders in a new home: each check of its configuration, and each start of svc-analysisd, takes half
 * a second of CPU for all of them.
 */
export function knowFewRules(home: Home): void {
  for (const folder of ['rules', 'decoders'] as const) {
    const path = home.path('ruleset', folder);
    for (const name of readdirSync(path)) if (!FEW[folder].test(name)) rmSync(`${path}/${name}`);
  }
  // The example of an own rule refers to one of sshd.
  const own = home.path('etc', 'rules', 'local_rules.xml');
  writeFileSync(own, readFileSync(own, 'utf8').replace(/<if_sid>\d+</, '<if_sid>500<'));
}
