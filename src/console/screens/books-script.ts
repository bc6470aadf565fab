/** The script of the book screens. */
export { openBooksScreen } from './books/books-screen.ts';
