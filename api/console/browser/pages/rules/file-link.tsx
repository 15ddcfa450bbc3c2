import { hrefOf } from '../../router/location.js';

/** A way to a file of the ruleset. @param path below the installation */
export function FileLink({ path }: { readonly path: string }) {
  return (
    <a class="mono" href={hrefOf(['rules'], { tab: 'files', file: path })}>
      {path}
    </a>
  );
}
