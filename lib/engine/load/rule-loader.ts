import { MatchContext } from '../../patterns/matcher.js';
import { applyVariables } from '../../xml/apply-variables.js';
import { parseXml } from '../../xml/parse-xml.js';
import type { XmlElement } from '../../xml/xml-element.js';
import { XmlError } from '../../xml/xml-error.js';
import { asciiLowerCase } from '../ascii-case.js';
import { compileRule, type RuleCompileContext } from './compile-rule.js';
import { failLoad } from './fail-load.js';
import { parseRule } from './read-rule/parse-rule.js';
import type { RuleParseContext } from './read-rule/rule-report.js';
import type { Rule } from './rule.js';
import { groupTester, LoadedRule, RuleTree } from './rule-tree.js';
import type { RulesetSource } from './ruleset-source.js';

export type RuleLoadContext = RuleParseContext & RuleCompileContext;

/**
 * Loads rule files in the given order (rules-and-alerts.md 1 to 3). Which files, and in which order, is the caller's
 * matter. Nothing outside is touched: on an error the caller just keeps what it had.
 *
 * @throws RulesetError naming file and line when the whole load fails
 */
export function loadRules(sources: readonly RulesetSource[], context: RuleLoadContext): RuleTree {
  const tree = new RuleTree(context.diagnostics);
  const groupContext = new MatchContext();
  for (const source of sources) {
    for (const group of readGroups(source, context)) {
      const fileGroup = group.attributes[0]?.value ?? '';
      group.children.forEach((element, index) => {
        const rule = parseRule(element, index, fileGroup, source.path, context);
        if (rule !== undefined) addRule(tree, rule, context, groupContext);
      });
    }
  }
  return tree;
}

function addRule(tree: RuleTree, parsed: Rule, context: RuleLoadContext, groupContext: MatchContext): void {
  const intent = tree.intentOf(parsed);
  if (intent === 'duplicate') return;
  const rule = intent === 'overwrite' ? parsed : withImpliedParent(parsed);
  const { conditions, matchedGroup, matchedRegex } = compileRule(rule, context);
  if (intent === 'overwrite') {
    tree.overwrite(rule, conditions, matchedRegex);
    return;
  }
  const groupTest = matchedGroup === undefined ? undefined : groupTester(matchedGroup, groupContext);
  tree.add(new LoadedRule(rule, conditions, matchedRegex), groupTest);
}

/** A composite without a parent becomes a child of what it counts (rules-and-alerts.md 2.3, checks 5 and 6). */
function withImpliedParent(rule: Rule): Rule {
  if (rule.ifSid !== undefined || rule.ifGroup !== undefined) return rule;
  if (rule.ifMatchedGroup !== undefined) return { ...rule, ifGroup: rule.ifMatchedGroup };
  if (rule.ifMatchedSid !== undefined) return { ...rule, ifSid: String(rule.ifMatchedSid) };
  return rule;
}

/** The groups of a file; all of them are checked before any rule is read (1.3). */
function readGroups(
  { path: file, content: text }: RulesetSource,
  { diagnostics }: RuleLoadContext,
): readonly XmlElement[] {
  if (text === '') return [];
  const whole = { file, line: 0 };
  let roots: readonly XmlElement[];
  try {
    roots = parseXml(text, file);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    const line = String(error.line);
    failLoad(
      diagnostics,
      { file, line: error.line },
      `(1226): Error reading XML file '${file}': ${error.message} (line ${line}).`,
    );
  }
  try {
    roots = applyVariables(roots, file);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    failLoad(
      diagnostics,
      { file, line: error.line },
      `(1227): Error applying XML variables '${file}': ${error.message.replace(/\.$/, '')}.`,
    );
  }
  if (roots.length === 0) failLoad(diagnostics, whole, `(1202): Configuration error at '${file}'.`);
  for (const root of roots) {
    const place = { file, line: root.line };
    if (asciiLowerCase(root.name) !== 'group') {
      failLoad(diagnostics, place, `rules_op: Invalid root element "${root.name}".Only "group" is allowed`);
    }
    if (root.attributes.length !== 1 || root.attributes[0]?.name !== 'name') {
      failLoad(diagnostics, place, `rules_op: Invalid root element '${root.name}'.Only the group name is allowed`);
    }
    if (root.children.length === 0) failLoad(diagnostics, place, `Group '${root.name}' without any rule.`);
    for (const child of root.children) {
      if (asciiLowerCase(child.name) !== 'rule') {
        failLoad(
          diagnostics,
          { file, line: child.line },
          `Invalid configuration. '${child.name}' is not a valid element.`,
        );
      }
    }
  }
  return roots;
}
