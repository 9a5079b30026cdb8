// The words of an exercise: its task in English, and what `zh-CN.md` has in Chinese.

export interface Prediction {
  /** About the file as it is before anybody has changed it. */
  question: string;
  /** A wrong one says why it is wrong. */
  answers: { text: string; isRight?: true | undefined; because?: string | undefined }[];
  /** What happens, and why: shown with the first verdict. */
  explains: string;
}

export interface Task {
  title: string;
  /** What is wrong, what to change, and when it is solved. */
  text: string;
}

/** All of an exercise in one language. */
export interface Words extends Task {
  hints: string[];
  prediction: Prediction;
  /** What the solution does, where its code does not say so in this language. */
  solution: string;
}

/** The texts between the headings of a page; the first stands above them. */
export const sectionsOf = (text: string) => text.split(/^## .*$/m).map((section) => section.trim());

/** The task: a line with `# ` and the title, then the text. */
export function taskOf(text: string): Task {
  const [title = '', ...task] = text.split('\n');
  return { title: title.slice(2).trim(), text: task.join('\n').trim() };
}

/** `zh-CN.md` has all in one: the task, three hints, the question with its answers, and what the solution does. A wrong answer has a second line. */
export function chineseOf(page: string): Words {
  const [task = '', one = '', two = '', three = '', asked = '', solution = ''] = sectionsOf(page);
  const [question = '', ...paragraphs] = asked.split('\n\n');
  const answers = paragraphs.slice(0, -1).map((paragraph) => {
    const [text = '', because] = paragraph.split('\n');
    return because === undefined ? { text, isRight: true as const } : { text, because };
  });
  const explains = paragraphs.at(-1) ?? '';
  return { ...taskOf(task), hints: [one, two, three], prediction: { question, answers, explains }, solution };
}
