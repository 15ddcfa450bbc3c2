import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A phone in the hand. */
export const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 900 };

/** A manager that serves a console, with the password of its first user. */
export type ConsolePlace = { readonly url: string; readonly password: string };

/** The console in a browser, as somebody uses it; what the browser complains of is remembered. */
export class ConsolePage {
  /** Errors of scripts, and what the policy of the page kept from happening. */
  readonly complaints: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly home: ConsolePlace,
  ) {
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // Refusals of the API are the business of the page, which says them.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.complaints.push(message.text());
      }
    });
  }

  /** Opens a place of the console, such as `#/alerts`; nobody is logged in. */
  static async open(
    browser: Browser,
    home: ConsolePlace,
    options: {
      readonly place?: string;
      readonly viewport?: { width: number; height: number };
      readonly dark?: boolean;
    } = {},
  ): Promise<ConsolePage> {
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: options.viewport ?? DESKTOP,
      colorScheme: options.dark === true ? 'dark' : 'light',
      locale: 'en-GB',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = new ConsolePage(await context.newPage(), home);
    await page.page.goto(`${home.url}${options.place ?? ''}`);
    return page;
  }

  async logIn(user = 'admin', password = this.home.password): Promise<void> {
    await this.page.getByLabel('User', { exact: true }).fill(user);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.page.getByRole('button', { name: 'Log in', exact: true }).click();
  }

  /** Goes to a place of the console. */
  async go(place: string): Promise<void> {
    await this.page.goto(`${this.home.url}${place}`);
  }

  /** What axe finds wrong with the page as it is seen: by WCAG 2.2 A and AA, and what is good practice. */
  async accessibilityProblems(): Promise<string[]> {
    await this.page.evaluate(AXE);
    return this.page.evaluate(async () => {
      type Found = { id: string; help: string; nodes: { target: string[]; failureSummary?: string }[] };
      const axe = (globalThis as unknown as { axe: { run: () => Promise<{ violations: Found[] }> } }).axe;
      const { violations } = await axe.run();
      return violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary ?? ''}`),
      );
    });
  }

  /** @throws AssertionError when the browser complained of anything, or axe finds anything */
  async expectClean(): Promise<void> {
    expect(await this.accessibilityProblems()).to.deep.equal([]);
    expect(this.complaints).to.deep.equal([]);
  }

  /** Whether the page is wider than its window: on a phone nobody scrolls sideways. */
  async expectNoSidewaysScroll(): Promise<void> {
    const sizes = await this.page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    const [wide, window] = sizes as [number, number];
    expect(wide).to.be.at.most(window);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
