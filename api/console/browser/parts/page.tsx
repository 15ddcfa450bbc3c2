import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { TEXTS } from '../texts.js';

type PageProps = {
  readonly title: string;
  /** Buttons beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** A page with its heading, which takes the focus when the page is come to: screen readers begin there. */
export function Page({ title, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${TEXTS.product}`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

type CardProps = {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
};

/** A part of a page with a heading of its own. */
export function Card({ title, actions, children, wide = false }: CardProps) {
  return (
    <section class={wide ? 'card wide' : 'card'} aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
