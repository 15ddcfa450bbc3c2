import type { Diagnostics } from '../../event.js';
import type { PluginName } from '../../load/decoder-definition.js';
import type { PatternCompiler } from '../../load/pattern-compiler.js';
import { JsonPlugin } from './json-plugin.js';
import { OssecAlertPlugin, type RuleExists } from './ossec-alert-plugin.js';
import { PfPlugin } from './pf-plugin.js';
import type { Plugin } from './plugin.js';
import { SonicwallPlugin } from './sonicwall-plugin.js';
import { SymantecWsPlugin } from './symantec-ws-plugin.js';

/** What the plugins of one engine share. */
export type PluginOptions = {
  /** Most dynamic fields of an event. */
  readonly orderSize: number;
  readonly compilePattern: PatternCompiler;
  readonly ruleExists: RuleExists;
  readonly diagnostics: Diagnostics;
};

export type Plugins = Readonly<Record<PluginName, Plugin>> & { readonly JSON_Decoder: JsonPlugin };

/** Makes all plugins, once an engine: they keep scratch memory. */
export function makePlugins({ orderSize, compilePattern, ruleExists, diagnostics }: PluginOptions): Plugins {
  return {
    PF_Decoder: new PfPlugin(),
    SymantecWS_Decoder: new SymantecWsPlugin(),
    SonicWall_Decoder: new SonicwallPlugin(compilePattern),
    OSSECAlert_Decoder: new OssecAlertPlugin(ruleExists, diagnostics),
    JSON_Decoder: new JsonPlugin(orderSize, diagnostics),
  };
}
