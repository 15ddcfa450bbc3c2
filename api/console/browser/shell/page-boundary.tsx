import { Component, type ComponentChildren } from 'preact';
import { describe } from '../client/notices.js';
import { TEXTS } from '../texts.js';

type PageBoundaryProps = {
  /** Where somebody is: another place is another try. */
  readonly place: string;
  readonly children: ComponentChildren;
};

/** A page that fails while it is drawn says so, and leaves the navigation as it is. */
export class PageBoundary extends Component<PageBoundaryProps, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    // For who looks into it: where it failed is in no page.
    reportError(error);
  }

  override componentDidUpdate({ place }: PageBoundaryProps): void {
    if (place !== this.props.place && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div class="failed" role="alert">
        <p>{TEXTS.common.pageFailed(describe(error))}</p>
        <button type="button" onClick={() => this.setState({ error: undefined })}>
          {TEXTS.common.retry}
        </button>
      </div>
    );
  }
}
