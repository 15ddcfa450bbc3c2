import type { Home } from '../home/home.js';
import { hasAlertConsumers } from './alert-consumers.js';
import { readConfigurationFile } from './configuration-file.js';
import { readConfigurationXml } from './read-configuration-xml.js';
import { sectionBlocks } from './section-blocks.js';

/** Whether outputs of a home read alerts.json: it is the stream of alerts. @throws ConfigError */
export function isAlertStreamRead(home: Home): boolean {
  const { text, name } = readConfigurationFile(home);
  return hasAlertConsumers(sectionBlocks(readConfigurationXml(text, name), name));
}
