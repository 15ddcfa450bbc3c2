import { hrefOf } from '../../router/location.js';

type FileLinkProps = {
  /** Below the installation. */
  readonly path: string;
  /** Shows the name alone, where there is little room. */
  readonly isShort?: boolean;
};

/** A way to a file of the ruleset. */
export function FileLink({ path, isShort = false }: FileLinkProps) {
  return (
    <a class="mono" title={path} href={hrefOf(['rules'], { tab: 'files', file: path })}>
      {isShort ? path.slice(path.lastIndexOf('/') + 1) : path}
    </a>
  );
}
