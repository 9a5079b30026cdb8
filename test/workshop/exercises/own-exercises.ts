import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectDir } from '../../../stack/parts.ts';
import { type Exercise, exercisesDir, provideFile, readExercises } from '../../../workshop/exercises/exercise.ts';
import { cleanUpLater } from '../../clean-up.ts';

export interface OwnExercises {
  folder: string;
  exercises: [Exercise, ...Exercise[]];
}

/** The exercises of these numbers in a folder of their own, with files that nobody has changed. */
export function ownExercises(numbers: number[]): OwnExercises {
  const root = mkdtempSync(join(tmpdir(), 'own-exercises-'));
  cleanUpLater(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'workshop/exercises');
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(projectDir, 'locks'), join(root, 'locks'));
  for (const { name } of readExercises().filter(({ number }) => numbers.includes(number)))
    cpSync(join(exercisesDir, name), join(folder, name), { recursive: true });
  const exercises = readExercises(folder) as [Exercise, ...Exercise[]];
  exercises.forEach(provideFile);
  return { folder, exercises };
}

/** The solution as the text of a file of one's own: that of a stage imports from another folder. */
export const solutionOf = ({ solution }: Pick<Exercise, 'solution'>) =>
  readFileSync(solution, 'utf8').replaceAll("from './", "from '../../../locks/");
