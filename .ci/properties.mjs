// Properties draw the same examples in every run, so that a check that passed passes again. FC_SEED=random draws new ones, and
// FC_SEED=<number> those of a run that failed (its report names the seed).
import fc from 'fast-check';

const SEED = 20261123;
const wanted = process.env['FC_SEED'];
const seed = wanted === 'random' ? undefined : wanted === undefined ? SEED : Number(wanted);

fc.configureGlobal(seed === undefined ? {} : { seed });
