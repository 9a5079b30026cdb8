// The keys of the slides. Without it the page can be scrolled and read all the same.
const slides = [...document.querySelectorAll('.slide')];
const byDistance = (one, other) =>
  Math.abs(one.getBoundingClientRect().top) - Math.abs(other.getBoundingClientRect().top);
const shown = () => slides.toSorted(byDistance)[0];

function show(place) {
  const slide = slides[Math.min(Math.max(place, 0), slides.length - 1)];
  slide.scrollIntoView();
  history.replaceState(null, '', `#${slide.id}`);
}

function toggleAnswer() {
  const answer = shown().querySelector('details');
  if (answer) answer.open = !answer.open;
}

function toggleTheme() {
  const { dataset } = document.documentElement;
  const isDark = dataset.theme ? dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  dataset.theme = isDark ? 'light' : 'dark';
}

const here = () => slides.indexOf(shown());
const keys = {
  ArrowRight: () => show(here() + 1),
  PageDown: () => show(here() + 1),
  ' ': () => show(here() + 1),
  ArrowLeft: () => show(here() - 1),
  PageUp: () => show(here() - 1),
  Home: () => show(0),
  End: () => show(slides.length - 1),
  a: toggleAnswer,
  t: toggleTheme,
};

addEventListener('keydown', (event) => {
  const { key, target, altKey, ctrlKey, metaKey } = event;
  // A link, an answer and code that goes on to the right have keys of their own.
  const isOwn = target.closest('summary, a') ? key === ' ' : target.closest('.scroll') && /^Arrow/.test(key);
  if (altKey || ctrlKey || metaKey || isOwn || !Object.hasOwn(keys, key)) return;
  event.preventDefault();
  keys[key]();
});

// Paper can't be unfolded.
const answers = [...document.querySelectorAll('details')];
let unfolded = [];
addEventListener('beforeprint', () => {
  unfolded = answers.filter(({ open }) => open);
  for (const answer of answers) answer.open = true;
});
addEventListener('afterprint', () => {
  for (const answer of answers) answer.open = unfolded.includes(answer);
});
